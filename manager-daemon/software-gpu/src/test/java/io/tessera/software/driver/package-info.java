/** The software GPU through its driver port, as an executor calls it. */
package io.tessera.software.driver;
