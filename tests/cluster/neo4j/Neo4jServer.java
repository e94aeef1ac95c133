import java.nio.file.Path;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Neo4j Community from its Maven artefacts: DIRECTORY PORT SETTINGS. Ends with its process. */
public class Neo4jServer {
    public static void main(String[] arguments) throws InterruptedException {
        var address = new SocketAddress("127.0.0.1", Integer.parseInt(arguments[1]));
        var server = new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
                .loadPropertiesFromFile(Path.of(arguments[2]))
                .setConfig(BoltConnector.enabled, true)
                .setConfig(BoltConnector.listen_address, address)
                .setConfig(BoltConnector.advertised_address, address)
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown));
        Thread.currentThread().join();
    }
}
