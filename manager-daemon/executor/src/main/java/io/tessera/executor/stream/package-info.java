/** A client's streams: which order holds between them, and how a client hears that work is done. */
package io.tessera.executor.stream;
