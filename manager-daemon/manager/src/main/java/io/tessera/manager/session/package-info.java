/**
 * Clients come and go: the runtime directory, registration, segments, liveness, and what is said on a client's
 * connection. Who may run when is decided elsewhere; this package tells it who is there.
 */
package io.tessera.manager.session;
