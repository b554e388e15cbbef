/** What the CUDA driver's binary interface fixes: result codes, argument slots, struct layouts, raw memory. */
package io.tessera.software.driver.abi;
