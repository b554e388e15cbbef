/** The manager's planning of memory, explored: fake clients on a device that has less than it says. */
package io.tessera.manager.model;
