package io.tessera.cli.jvm;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import javax.management.Attribute;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import javax.management.openmbean.CompositeData;

/** The agent's management bean in another JVM, {@code io.tessera:type=Gpu}. One thread. */
final class RemoteGpuBean {
    static final ObjectName NAME = name("io.tessera:type=Gpu");
    private static final ObjectName MEMORY = name("java.lang:type=Memory");

    private final MBeanServerConnection server;
    private final long pid;

    RemoteGpuBean(MBeanServerConnection server, long pid) {
        this.server = server;
        this.pid = pid;
    }

    private static ObjectName name(String text) {
        try {
            return new ObjectName(text);
        } catch (MalformedObjectNameException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns whether the bean is registered. */
    boolean present() throws IOException {
        return server.isRegistered(NAME);
    }

    /** Returns all scalar attributes. */
    GpuSummary summary() throws JvmException, IOException {
        return asking(() -> GpuSummary.of(server.getAttributes(NAME, GpuSummary.ATTRIBUTES).stream()
                .map(Attribute.class::cast).toList()));
    }

    /** Returns live memory by call site, most bytes first. */
    List<SiteRow> heap(int top) throws JvmException, IOException {
        return rows("heap", SiteRow::of, new Object[] {top}, "int");
    }

    /** Returns live allocations that are older than an age. */
    List<OldAllocation> leaks(long olderThanMs, int top) throws JvmException, IOException {
        return rows("leaks", OldAllocation::of, new Object[] {olderThanMs, top}, "long", "int");
    }

    /** Returns kernels and copies by call site, most launches first. */
    List<LaunchSiteRow> launchers(int top) throws JvmException, IOException {
        return rows("launchers", LaunchSiteRow::of, new Object[] {top}, "int");
    }

    /** Sets the recording mode. */
    void setRecording(String mode) throws JvmException, IOException {
        asking(() -> {
            server.setAttribute(NAME, new Attribute("Recording", mode));
            return mode;
        });
    }

    /** Frees device memory whose owner was collected, and returns its size in bytes. */
    long releaseUnreachable() throws JvmException, IOException {
        return (Long) invoke("releaseUnreachable", new Object[0]);
    }

    /** Runs the JVM's garbage collector. */
    void collectGarbage() throws JvmException, IOException {
        asking(() -> server.invoke(MEMORY, "gc", new Object[0], new String[0]));
    }

    private <T> List<T> rows(String operation, Function<CompositeData, T> read, Object[] arguments, String... types)
            throws JvmException, IOException {
        return asking(() -> Arrays.stream((CompositeData[]) server.invoke(NAME, operation, arguments, types)).map(read)
                .toList());
    }

    private Object invoke(String operation, Object[] arguments, String... types) throws JvmException, IOException {
        return asking(() -> server.invoke(NAME, operation, arguments, types));
    }

    private interface Question<T> {
        T ask() throws JMException, IOException;
    }

    /** Calls the bean. A missing field or an unexpected type indicates an agent of another version. */
    private <T> T asking(Question<T> question) throws JvmException, IOException {
        try {
            return question.ask();
        } catch (InstanceNotFoundException e) {
            throw new JvmException("the agent in " + pid + " has no management bean: the agent has seen no CUDA yet, it"
                    + " was started with jmx=off, or it could not start (its one line on stderr says why)", e);
        } catch (RuntimeMBeanException e) {
            throw new JvmException("the agent in " + pid + " refuses: " + e.getCause().getMessage(), e);
        } catch (JMException | ClassCastException | NullPointerException | IllegalArgumentException e) {
            throw new JvmException("the agent in " + pid + " answers otherwise than this tessera expects, so it is"
                    + " probably of another version: " + e.getMessage(), e);
        }
    }
}
