import java.nio.file.Path;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.configuration.ssl.ClientAuth;
import org.neo4j.configuration.ssl.SslPolicyConfig;
import org.neo4j.configuration.ssl.SslPolicyScope;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Neo4j that wants a password and speaks TLS alone: DIRECTORY PORT CERTIFICATE KEY PASSWORD. */
public class SecuredNeo4j {
    public static void main(String[] arguments) throws InterruptedException {
        var address = new SocketAddress("127.0.0.1", Integer.parseInt(arguments[1]));
        var ssl = SslPolicyConfig.forScope(SslPolicyScope.BOLT);
        var server = new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
                .setConfig(BoltConnector.enabled, true)
                .setConfig(BoltConnector.listen_address, address)
                .setConfig(BoltConnector.advertised_address, address)
                .setConfig(BoltConnector.encryption_level, BoltConnector.EncryptionLevel.REQUIRED)
                .setConfig(ssl.enabled, true)
                .setConfig(ssl.base_directory, Path.of(arguments[2]).getParent())
                .setConfig(ssl.client_auth, ClientAuth.NONE)
                .setConfig(ssl.public_certificate, Path.of(arguments[2]))
                .setConfig(ssl.private_key, Path.of(arguments[3]))
                .setConfig(GraphDatabaseSettings.auth_enabled, true)
                .build();
        server.database("system").executeTransactionally(
                "ALTER USER neo4j SET PASSWORD '" + arguments[4] + "' CHANGE NOT REQUIRED");
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown));
        System.out.println("ready");
        Thread.currentThread().join();
    }
}
