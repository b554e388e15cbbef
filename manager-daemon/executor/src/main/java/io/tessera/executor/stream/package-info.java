/** A client's streams: the order between them, and how a client learns that work is done. */
package io.tessera.executor.stream;
