/** The shared segment between a client and the manager: its layout, and the views that read and write it. */
package io.tessera.protocol.segment;
