/** What the tests of the commands share: a control socket with a script, a command run in this JVM. */
package io.tessera.cli;
