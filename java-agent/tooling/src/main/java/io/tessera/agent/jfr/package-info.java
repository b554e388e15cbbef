/** Flight Recorder events; loaded only where the JVM has Flight Recorder. */
package io.tessera.agent.jfr;
