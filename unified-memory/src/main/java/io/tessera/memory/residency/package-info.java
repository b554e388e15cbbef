/**
 * Residency on a device: the memory that each client may hold there and on the host, the length of turns when memory has to be moved for them, and
 * the detection of memory that is too short for running side by side. Pure models: no clock, no thread, no device.
 */
package io.tessera.memory.residency;
