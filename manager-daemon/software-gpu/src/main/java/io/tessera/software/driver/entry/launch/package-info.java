/** Entries about launches: kernels, their attributes, and occupancy. */
package io.tessera.software.driver.entry.launch;
