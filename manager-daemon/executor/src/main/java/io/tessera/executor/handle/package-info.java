/** The numbers that a client knows the driver's objects by: typed, with generations, one set of tables a client. */
package io.tessera.executor.handle;
