/**
 * Residency on a device: what each client may hold there and on the host, how long turns last when memory has to be moved for them, and
 * when memory is too short for running side by side. Pure models: no clock, no thread, no device.
 */
package io.tessera.memory.residency;
