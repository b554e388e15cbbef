package io.tessera.cli.jvm;

import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.AgentLoadException;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** A connection to the agent in another JVM of this user; loads the agent there where it is absent. One thread. */
final class AgentConnection implements AutoCloseable {
    /** Disables the connector's periodic check of the other side, which would outlast a command; in milliseconds. */
    private static final Map<String, Object> NO_CHECKS = Map.of("jmx.remote.x.client.connection.check.period", 0L);

    /** Ends an attachment. */
    private interface Attachment extends AutoCloseable {
        @Override
        void close() throws IOException;
    }

    private final JMXConnector connector;
    private final RemoteGpuBean bean;
    private final boolean loaded;

    private AgentConnection(JMXConnector connector, RemoteGpuBean bean, boolean loaded) {
        this.connector = connector;
        this.bean = bean;
        this.loaded = loaded;
    }

    /**
     * Attaches and connects.
     *
     * @param jvm  the process as /proc shows it; a JVM of this user
     * @param jar  the agent's jar, or null if it must not be loaded: an agent that is already present may then show no bean
     * @throws JvmException with a message for users
     */
    static AgentConnection to(JvmProcess jvm, Path jar) throws JvmException {
        long pid = jvm.pid();
        VirtualMachine machine = attach(pid);
        try (Attachment _ = machine::detach) {
            JMXConnector connector = connect(machine, pid);
            try {
                RemoteGpuBean bean = new RemoteGpuBean(connector.getMBeanServerConnection(), pid);
                boolean absent = !bean.present();
                if (absent && (jar != null || !jvm.agent())) {
                    load(machine, jvm, jar);
                }
                return new AgentConnection(connector, bean, absent && !jvm.agent());
            } catch (JvmException | IOException | RuntimeException e) {
                connector.close();
                throw e;
            }
        } catch (IOException e) {
            throw new JvmException("the JVM " + pid + " could not be asked: " + e.getMessage(), e);
        }
    }

    private static VirtualMachine attach(long pid) throws JvmException {
        try {
            return VirtualMachine.attach(Long.toString(pid));
        } catch (AttachNotSupportedException | IOException e) {
            throw new JvmException("the JVM " + pid + " does not let itself be attached to: " + e.getMessage()
                    + ". It was started with -XX:+DisableAttachMechanism, its temporary folder cannot be reached, or it"
                    + " is stopped", e);
        }
    }

    private static JMXConnector connect(VirtualMachine machine, long pid) throws JvmException {
        try {
            return JMXConnectorFactory.connect(new JMXServiceURL(machine.startLocalManagementAgent()), NO_CHECKS);
        } catch (IOException | RuntimeException e) {
            throw new JvmException("the management agent of the JVM " + pid + " cannot be started: " + e.getMessage()
                    + ". Its runtime needs the module jdk.management.agent", e);
        }
    }

    /**
     * Loads the agent. An agent that is already present has no bean before the program's first CUDA class; a second start only makes it
     * register the bean.
     */
    private static void load(VirtualMachine machine, JvmProcess jvm, Path jar) throws JvmException, IOException {
        if (jar == null) {
            throw new JvmException("the JVM " + jvm.pid() + " has no agent. Start it with -javaagent:"
                    + JvmProcess.AGENT_JAR + ", or let this command load it");
        }
        if (!Files.isReadable(jar)) {
            throw new JvmException("the agent's jar is missing (" + jar + ")");
        }
        try {
            machine.loadAgent(jar.toRealPath().toString());
        } catch (AgentLoadException | AgentInitializationException e) {
            throw new JvmException("the JVM " + jvm.pid() + " does not load the agent: " + e.getMessage()
                    + ". A JVM that was started with -XX:-EnableDynamicAgentLoading needs -javaagent:"
                    + JvmProcess.AGENT_JAR + " when it starts", e);
        }
    }

    /** Returns the agent's bean. */
    RemoteGpuBean bean() {
        return bean;
    }

    /** Returns whether the agent was absent and has been loaded by this connection. */
    boolean loaded() {
        return loaded;
    }

    @Override
    public void close() throws IOException {
        connector.close();
    }
}
