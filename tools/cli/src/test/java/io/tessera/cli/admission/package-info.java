/** Tests of the wait for a place. */
package io.tessera.cli.admission;
