/** Entries about memory: allocation, arrays, pools, copies, fills, and what is known of a pointer. */
package io.tessera.software.driver.entry.memory;
