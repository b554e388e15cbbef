/** Signals of the operating system as commands to the conductor. */
package io.tessera.manager.signals;
