package io.tessera.cli.jvm;

import java.util.List;
import java.util.Set;

/** Reads the command line of a {@code java} process: what it runs, and whether it names Tessera's agent. Pure. */
final class CommandLineOfJava {
    /** Options of the launcher whose value is the next argument; java(1). */
    private static final Set<String> WITH_VALUE = Set.of("-cp", "-classpath", "--class-path", "-p", "--module-path",
            "--upgrade-module-path", "--add-modules", "--add-opens", "--add-exports", "--add-reads", "--patch-module",
            "--limit-modules", "--enable-native-access", "--source", "--describe-module", "-d");
    private static final Set<String> NAMES_PROGRAM = Set.of("-jar", "-m", "--module");

    private CommandLineOfJava() {
    }

    /** Returns the main class, module or jar, without its folder; the command if none is named. */
    static String program(List<String> arguments) {
        for (int i = 1; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            if (NAMES_PROGRAM.contains(argument) && i + 1 < arguments.size()) {
                return lastName(arguments.get(i + 1));
            }
            if (WITH_VALUE.contains(argument)) {
                i++;
            } else if (!argument.startsWith("-") && !argument.startsWith("@")) {
                return argument;
            }
        }
        return command(arguments);
    }

    /** Returns the command without its folder; empty for a process without arguments. */
    static String command(List<String> arguments) {
        return arguments.isEmpty() ? "" : lastName(arguments.getFirst());
    }

    /** Returns whether {@code -javaagent} names a jar with this file name. */
    static boolean namesAgent(List<String> arguments, String jar) {
        return arguments.stream().filter(argument -> argument.startsWith("-javaagent:"))
                .map(argument -> argument.substring("-javaagent:".length()).replaceFirst("=.*", ""))
                .anyMatch(path -> lastName(path).equals(jar));
    }

    private static String lastName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
