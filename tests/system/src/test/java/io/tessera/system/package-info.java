/**
 * Real processes where users have them: the real preload library, a real manager, real programs, and the scripted
 * driver in the place of the vendor's.
 */
package io.tessera.system;
