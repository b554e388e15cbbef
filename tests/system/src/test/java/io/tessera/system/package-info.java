/**
 * Tests with the processes that users have: the real preload library, a real manager, real programs, and the scripted
 * driver in place of NVIDIA's.
 */
package io.tessera.system;
