package io.tessera.agent.start;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** The platform's bean server, in a class of its own because a small run-time image may lack {@code java.management}. */
final class Management {
    private Management() {
    }

    static void register(Object bean, String name) throws IOException {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(bean, new ObjectName(name));
        } catch (JMException failure) {
            throw new IOException(failure);
        }
    }
}
