/** Instructions that turn argument values into one result, by type. */
package io.tessera.software.interpret.pure;
