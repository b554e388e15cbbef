/** Device printf: from the driver, which prints into this process, to the client whose kernel printed. */
package io.tessera.executor.print;
