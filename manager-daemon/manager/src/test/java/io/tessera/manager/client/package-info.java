/** Clients for tests of the running manager. */
package io.tessera.manager.client;
