/**
 * Clients come and go: the runtime directory, registration, segments, liveness, and the messages on a client's connection. When clients may
 * run is decided elsewhere; this package tells it which clients are there.
 */
package io.tessera.manager.session;
