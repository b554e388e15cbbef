/** Launches: their parameters and limits, the means to stop them, and their outcome. */
package io.tessera.software.launch;
