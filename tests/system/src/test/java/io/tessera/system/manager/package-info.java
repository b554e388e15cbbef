/** The manager: signals, deaths, peers that violate the protocol, users, and the storage of segments. */
package io.tessera.system.manager;
