/** Tests of the commands that move memory. */
package io.tessera.cli.residency;
