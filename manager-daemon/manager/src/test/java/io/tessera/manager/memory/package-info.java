/** The manager's ports in memory: sockets, files, processes and time that a test moves by hand. */
package io.tessera.manager.memory;
