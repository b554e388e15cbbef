/** Memory of the device: what addresses mean, allocations, pools, virtual memory, arrays, and copies between them. */
package io.tessera.software.driver.memory;
