/** The handles by which a client names the driver's objects: typed, with generations, in one set of tables for each client. */
package io.tessera.executor.handle;
