/** Two ordinary programs against JCuda's released artifact. They know nothing of Tessera. */
package io.tessera.demo;
