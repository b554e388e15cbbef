/** Checks that every loop ends, and bounds the work between two looks at the stop word. */
package io.tessera.guardian.verify.loop;
