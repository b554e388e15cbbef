/** The entries of the driver, one class a subject: they read arguments, check them, and call what the entry is about. */
package io.tessera.software.driver.entry;
