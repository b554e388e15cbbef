/**
 * What every command gets from outside: where to write, the environment, where Tessera is installed, the exit codes.
 */
package io.tessera.cli.context;
