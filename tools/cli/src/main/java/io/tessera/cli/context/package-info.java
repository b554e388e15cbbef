/**
 * The context of every command: outputs, the environment, the installation of Tessera, and the exit codes.
 */
package io.tessera.cli.context;
