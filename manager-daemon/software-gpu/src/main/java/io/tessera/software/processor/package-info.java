/**
 * The software GPU as a whole: {@link io.tessera.software.processor.SoftwareProcessor} loads modules and runs grids.
 * What a CUDA driver has on top (contexts, streams, events) is not here.
 */
package io.tessera.software.processor;
