;; The inner loops of a search by vectors. Compiled into kernel-bytes.ts by `npm run build:kernel`; plain.ts does the
;; same in JavaScript, number by number.
;;
;; Rows have `stride` bytes each; where nothing else is said they lie one after the other. The caller keeps to this: a
;; stride is a multiple of 16 and at least 16, what a row does not use is zero, and no sum exceeds 31 bits (quantise.ts
;; chooses the query's step so).
(module
  (import "holdfast" "memory" (memory 0 65536))

  ;; The sum of four numbers.
  (func $sum (param $v v128) (result i32)
    (local.set $v
      (i32x4.add (local.get $v)
        (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $v) (local.get $v))))
    (i32.add (i32x4.extract_lane 0 (local.get $v)) (i32x4.extract_lane 1 (local.get $v))))

  ;; Products of rows of int8 with a query of int16: one i32 per row, from `out` on. Rows lie in groups of four, 16 bytes
  ;; of each in turn, so that a step reads one line of memory and each part of the query once for all four.
  (func (export "dots")
    (param $rows i32) (param $groups i32) (param $stride i32) (param $query i32) (param $out i32)
    (local $end i32) (local $q i32) (local $left v128) (local $right v128)
    (local $sa v128) (local $sb v128) (local $sc v128) (local $sd v128)
    (block $done
      (loop $group
        (br_if $done (i32.eqz (local.get $groups)))
        (local.set $end (i32.add (local.get $rows) (i32.mul (local.get $stride) (i32.const 4))))
        (local.set $q (local.get $query))
        (local.set $sa (v128.const i32x4 0 0 0 0))
        (local.set $sb (v128.const i32x4 0 0 0 0))
        (local.set $sc (v128.const i32x4 0 0 0 0))
        (local.set $sd (v128.const i32x4 0 0 0 0))
        (loop $part
          (local.set $left (v128.load (local.get $q)))
          (local.set $right (v128.load offset=16 (local.get $q)))
          (local.set $sa (i32x4.add (local.get $sa) (i32x4.dot_i16x8_s (v128.load8x8_s offset=0 (local.get $rows)) (local.get $left))))
          (local.set $sb (i32x4.add (local.get $sb) (i32x4.dot_i16x8_s (v128.load8x8_s offset=16 (local.get $rows)) (local.get $left))))
          (local.set $sc (i32x4.add (local.get $sc) (i32x4.dot_i16x8_s (v128.load8x8_s offset=32 (local.get $rows)) (local.get $left))))
          (local.set $sd (i32x4.add (local.get $sd) (i32x4.dot_i16x8_s (v128.load8x8_s offset=48 (local.get $rows)) (local.get $left))))
          (local.set $sa (i32x4.add (local.get $sa) (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 (local.get $rows)) (local.get $right))))
          (local.set $sb (i32x4.add (local.get $sb) (i32x4.dot_i16x8_s (v128.load8x8_s offset=24 (local.get $rows)) (local.get $right))))
          (local.set $sc (i32x4.add (local.get $sc) (i32x4.dot_i16x8_s (v128.load8x8_s offset=40 (local.get $rows)) (local.get $right))))
          (local.set $sd (i32x4.add (local.get $sd) (i32x4.dot_i16x8_s (v128.load8x8_s offset=56 (local.get $rows)) (local.get $right))))
          (local.set $q (i32.add (local.get $q) (i32.const 32)))
          (br_if $part
            (i32.lt_u (local.tee $rows (i32.add (local.get $rows) (i32.const 64))) (local.get $end))))
        (i32.store (local.get $out) (call $sum (local.get $sa)))
        (i32.store offset=4 (local.get $out) (call $sum (local.get $sb)))
        (i32.store offset=8 (local.get $out) (call $sum (local.get $sc)))
        (i32.store offset=12 (local.get $out) (call $sum (local.get $sd)))
        (local.set $out (i32.add (local.get $out) (i32.const 16)))
        (local.set $groups (i32.sub (local.get $groups) (i32.const 1)))
        (br $group))))

  ;; Puts rows that lie one after the other at their places in groups: groups begin at `groups`, the first row is to be
  ;; the `first` there.
  (func (export "lay")
    (param $source i32) (param $count i32) (param $stride i32) (param $groups i32) (param $first i32)
    (local $end i32) (local $target i32)
    (block $done
      (loop $row
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $target
          (i32.add (local.get $groups)
            (i32.add
              (i32.mul (i32.and (local.get $first) (i32.const -4)) (local.get $stride))
              (i32.mul (i32.and (local.get $first) (i32.const 3)) (i32.const 16)))))
        (local.set $end (i32.add (local.get $source) (local.get $stride)))
        (loop $part
          (v128.store (local.get $target) (v128.load (local.get $source)))
          (local.set $target (i32.add (local.get $target) (i32.const 64)))
          (br_if $part
            (i32.lt_u (local.tee $source (i32.add (local.get $source) (i32.const 16))) (local.get $end))))
        (local.set $first (i32.add (local.get $first) (i32.const 1)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $row))))

  ;; Copies 16 bytes at a time, so many times, going on by a step of its own on either side.
  (func (export "copy")
    (param $source i32) (param $source_step i32) (param $target i32) (param $target_step i32) (param $parts i32)
    (block $done
      (loop $part
        (br_if $done (i32.eqz (local.get $parts)))
        (v128.store (local.get $target) (v128.load (local.get $source)))
        (local.set $source (i32.add (local.get $source) (local.get $source_step)))
        (local.set $target (i32.add (local.get $target) (local.get $target_step)))
        (local.set $parts (i32.sub (local.get $parts) (i32.const 1)))
        (br $part))))

  ;; Turns products into the highest scores that rows can have: the i32 from `out` on become f32,
  ;; step · product · per_product + error · per_error. As many as `count`, rounded up to a multiple of 4.
  ;; Gives back the highest of them; if one is no number, none.
  (func (export "bounds")
    (param $out i32) (param $count i32) (param $steps i32) (param $errors i32)
    (param $per_product f32) (param $per_error f32) (result f32)
    (local $end i32) (local $four v128) (local $max v128)
    (local.set $max (f32x4.splat (f32.const -inf)))
    (local.set $end (i32.add (local.get $out) (i32.mul (local.get $count) (i32.const 4))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $out) (local.get $end)))
        (local.set $four
          (f32x4.add
            (f32x4.mul
              (v128.load (local.get $steps))
              (f32x4.mul (f32x4.convert_i32x4_s (v128.load (local.get $out))) (f32x4.splat (local.get $per_product))))
            (f32x4.mul (v128.load (local.get $errors)) (f32x4.splat (local.get $per_error)))))
        (v128.store (local.get $out) (local.get $four))
        (local.set $max (f32x4.max (local.get $max) (local.get $four)))
        (local.set $out (i32.add (local.get $out) (i32.const 16)))
        (local.set $steps (i32.add (local.get $steps) (i32.const 16)))
        (local.set $errors (i32.add (local.get $errors) (i32.const 16)))
        (br $next)))
    (f32.max
      (f32.max (f32x4.extract_lane 0 (local.get $max)) (f32x4.extract_lane 1 (local.get $max)))
      (f32.max (f32x4.extract_lane 2 (local.get $max)) (f32x4.extract_lane 3 (local.get $max))))))
