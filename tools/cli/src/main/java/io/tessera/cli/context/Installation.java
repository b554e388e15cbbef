package io.tessera.cli.context;

import java.nio.file.Path;
import java.util.Properties;

/**
 * Locations of Tessera's files, as found by the shell script {@code tessera}.
 *
 * @param home         source tree or kit
 * @param nativeFolder folder of our libcuda.so.1 and libnvidia-ml.so.1
 * @param probe        program that inspects the vendor's driver
 * @param agent        the jar of the agent for JVMs
 * @param version      version of this program; {@code development} if it runs from class files
 */
public record Installation(Path home, Path nativeFolder, Path probe, Path agent, String version) {
    /**
     * Returns the installation given by the system properties {@code tessera.home}, {@code tessera.native}, {@code tessera.probe} and
     * {@code tessera.agent}.
     */
    public static Installation of(Properties properties, String version) {
        Path home = Path.of(properties.getProperty("tessera.home", "")).toAbsolutePath();
        return new Installation(home,
                Path.of(properties.getProperty("tessera.native", home.resolve("lib").toString())),
                Path.of(properties.getProperty("tessera.probe", home.resolve("bin/tessera-probe").toString())),
                Path.of(properties.getProperty("tessera.agent", home.resolve("agent/tessera-agent.jar").toString())),
                version);
    }
}
