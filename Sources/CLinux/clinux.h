// Parts of glibc that its Swift module leaves out, and instructions of the processor that Swift does not offer.
#ifndef FSYNC_LITE_CLINUX_H
#define FSYNC_LITE_CLINUX_H

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/// Makes malloc map each buffer of this many bytes or more by itself, and unmap it when it is freed. By default, this
/// ends with the first freed buffer: later ones lie among small ones, and their memory is not returned.
static inline int map_large_buffers(int bytes) { return mallopt(M_MMAP_THRESHOLD, bytes); }

/// Makes malloc keep this many free bytes of each thread, because it would soon map them again. Without this call,
/// `map_large_buffers` also fixes this number at 128 KiB.
static inline int keep_small_buffers(int bytes) { return mallopt(M_TRIM_THRESHOLD, bytes); }

#ifndef SYS_listxattrat
#define SYS_listxattrat 465
#endif

/// The bytes that the names of an object's extended attributes need; below zero is an error, such as ENOSYS before
/// Linux 6.13.
static inline long listxattrat_size(int directory, const char *name, int flags) {
    return syscall(SYS_listxattrat, directory, name, flags, (char *)0, (size_t)0);
}

#ifndef SYS_file_getattr
#define SYS_file_getattr 468
#endif

/// The project of an object, also of a symlink itself; below zero is an error, such as ENOSYS before Linux 6.17.
static inline long file_project(int directory, const char *name, uint32_t *project) {
    struct { uint64_t flags; uint32_t extent, extents, project, cow_extent; } attributes = {0};
    long result = syscall(SYS_file_getattr, directory, name, &attributes, sizeof attributes, 0x100);
    *project = attributes.project;
    return result;
}

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

/// Opens a path that must not lead outside of a directory; below zero is an error.
static inline long open_beneath(int directory, const char *path, uint64_t flags, int follows_symlinks) {
    // RESOLVE_NO_MAGICLINKS, RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS of linux/openat2.h.
    struct { uint64_t flags, mode, resolve; } how = {flags, 0, 0x02 | 0x08 | (follows_symlinks ? 0 : 0x04)};
    return syscall(SYS_openat2, directory, path, &how, sizeof how);
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/// Whether the processor has the instructions that `sha256_blocks_accelerated` uses.
static inline int sha256_is_accelerated(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

/// Adds whole blocks of 64 bytes to a state of eight words. `constants` are the 64 constants of the standard.
__attribute__((target("sha,sse4.1,ssse3"))) static inline void sha256_blocks_accelerated(
    uint32_t *state, const uint32_t *constants, const void *data, size_t count) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    const __m128i *next = (const __m128i *)data, *k = (const __m128i *)constants;
    // The instructions expect the words in the order ABEF and CDGH.
    __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xB1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state + 1), 0x1B);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
    for (; count > 0; count--, next += 4) {
        const __m128i old_abef = abef, old_cdgh = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; i++) w[i] = _mm_shuffle_epi8(_mm_loadu_si128(next + i), big_endian);
#pragma clang loop unroll(full)
        for (int i = 0; i < 16; i++) {
            const __m128i sum = _mm_add_epi32(w[i & 3], _mm_loadu_si128(k + i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
            if (i >= 12) continue;
            const __m128i last = w[(i + 3) & 3];
            const __m128i part = _mm_add_epi32(
                _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]), _mm_alignr_epi8(last, w[(i + 2) & 3], 4));
            w[i & 3] = _mm_sha256msg2_epu32(part, last);
        }
        abef = _mm_add_epi32(abef, old_abef);
        cdgh = _mm_add_epi32(cdgh, old_cdgh);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i *)state + 1, _mm_alignr_epi8(dchg, feba, 8));
}
#endif

#endif
