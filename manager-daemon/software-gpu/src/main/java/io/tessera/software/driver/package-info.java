/**
 * The software GPU as a CUDA driver: {@link io.tessera.software.driver.SoftwareDriver} serves the entries of the driver
 * interface over {@link io.tessera.software.processor.SoftwareProcessor}. Start with
 * {@link io.tessera.software.driver.entry.EntryTable}, {@link io.tessera.software.driver.context.Stream} and
 * {@link io.tessera.software.driver.work.Task}.
 */
package io.tessera.software.driver;
