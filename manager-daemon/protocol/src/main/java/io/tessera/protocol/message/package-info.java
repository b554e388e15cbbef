/** The messages of the registration socket and of executors: their layouts, encoders, and adapters that check. */
package io.tessera.protocol.message;
