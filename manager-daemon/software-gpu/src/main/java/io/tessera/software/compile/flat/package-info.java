/** A kernel as one flat sequence of steps, its control flow, and which JVM type each register lives in. */
package io.tessera.software.compile.flat;
