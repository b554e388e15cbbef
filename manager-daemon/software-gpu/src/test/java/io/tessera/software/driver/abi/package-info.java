/** The binary interface, compared with an installed header. */
package io.tessera.software.driver.abi;
