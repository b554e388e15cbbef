/** The parts of the script {@code tessera manager} that are in Java. */
package io.tessera.cli.manager;
