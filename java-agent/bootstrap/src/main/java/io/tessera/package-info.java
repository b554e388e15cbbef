/** Optional interface for applications. */
package io.tessera;
