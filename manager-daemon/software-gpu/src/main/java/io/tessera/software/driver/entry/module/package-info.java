/** Entries about code: modules, libraries, functions, and the linker. */
package io.tessera.software.driver.entry.module;
