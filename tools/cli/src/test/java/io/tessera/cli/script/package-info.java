/** The shell script {@code tessera}, run as a process on a kit whose pieces are stand-ins. */
package io.tessera.cli.script;
