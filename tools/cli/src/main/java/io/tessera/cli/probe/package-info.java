/** What the vendor's driver shows of this machine's GPUs, as a process of its own sees it. */
package io.tessera.cli.probe;
