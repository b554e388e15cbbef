/** A view of this machine's GPUs through the vendor's driver, taken in a separate process. */
package io.tessera.cli.probe;
