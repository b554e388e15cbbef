/** The binary interface of the CUDA driver: result codes, argument slots, struct layouts, raw memory. */
package io.tessera.software.driver.abi;
