/** Executors: starts them when the first client asks, supervises them, starts them again after a death, and announces clients to them. */
package io.tessera.manager.executors;
