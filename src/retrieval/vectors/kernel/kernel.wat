;; The inner loops of a search by vectors. Compiled into kernel-bytes.ts by `npm run build:kernel`; plain.ts does the
;; same in JavaScript, number by number.
;;
;; Rows have `stride` bytes each; where nothing else is said they lie one after the other. The caller keeps to this: a
;; stride is a multiple of 16 and at least 16, what a row does not use is zero, and no sum exceeds 31 bits (quantise.ts
;; chooses the query's scale so).
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
  ;; scale · (product · per_product + per_scale) + error · per_error. As many as `count`, rounded up to a multiple of 4.
  ;; Gives back the highest of them; if one is no number, none.
  (func (export "bounds")
    (param $out i32) (param $count i32) (param $scales i32) (param $errors i32)
    (param $per_product f32) (param $per_scale f32) (param $per_error f32) (result f32)
    (local $end i32) (local $four v128) (local $max v128)
    (local.set $max (f32x4.splat (f32.const -inf)))
    (local.set $end (i32.add (local.get $out) (i32.mul (local.get $count) (i32.const 4))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $out) (local.get $end)))
        (local.set $four
          (f32x4.add
            (f32x4.mul
              (v128.load (local.get $scales))
              (f32x4.add
                (f32x4.mul (f32x4.convert_i32x4_s (v128.load (local.get $out))) (f32x4.splat (local.get $per_product)))
                (f32x4.splat (local.get $per_scale))))
            (f32x4.mul (v128.load (local.get $errors)) (f32x4.splat (local.get $per_error)))))
        (v128.store (local.get $out) (local.get $four))
        (local.set $max (f32x4.max (local.get $max) (local.get $four)))
        (local.set $out (i32.add (local.get $out) (i32.const 16)))
        (local.set $scales (i32.add (local.get $scales) (i32.const 16)))
        (local.set $errors (i32.add (local.get $errors) (i32.const 16)))
        (br $next)))
    (f32.max
      (f32.max (f32x4.extract_lane 0 (local.get $max)) (f32x4.extract_lane 1 (local.get $max)))
      (f32.max (f32x4.extract_lane 2 (local.get $max)) (f32x4.extract_lane 3 (local.get $max)))))

  ;; In how many bits rows differ from the query: one i32 per row, from `out` on. Strides up to 65,520 bytes.
  (func (export "distances")
    (param $rows i32) (param $count i32) (param $stride i32) (param $query i32) (param $out i32)
    (local $end i32) (local $q i32) (local $s v128)
    (block $done
      (loop $one
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $end (i32.add (local.get $rows) (local.get $stride)))
        (local.set $q (local.get $query))
        (local.set $s (v128.const i32x4 0 0 0 0))
        (loop $part
          (local.set $s
            (i16x8.add (local.get $s)
              (i16x8.extadd_pairwise_i8x16_u
                (i8x16.popcnt (v128.xor (v128.load (local.get $rows)) (v128.load (local.get $q)))))))
          (local.set $q (i32.add (local.get $q) (i32.const 16)))
          (br_if $part
            (i32.lt_u (local.tee $rows (i32.add (local.get $rows) (i32.const 16))) (local.get $end))))
        (i32.store (local.get $out) (call $sum (i32x4.extadd_pairwise_i16x8_u (local.get $s))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $one))))

  ;; Turns a row of f32 into a row of int8: `stride` numbers each. Writes the scale, then the sum of the squares of
  ;; what is lost, as two f32 from `out` on. A row of next to nothing becomes zeros.
  (func (export "quantise")
    (param $source i32) (param $stride i32) (param $target i32) (param $out i32)
    (local $at i32) (local $end i32) (local $largest f32) (local $scale f32)
    (local $max v128) (local $scales v128) (local $inverses v128) (local $sums v128) (local $round v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)

    (local.set $end (i32.add (local.get $source) (i32.mul (local.get $stride) (i32.const 4))))
    (local.set $at (local.get $source))
    ;; Four maxima side by side, so that none has to wait for the one before.
    (loop $part
      (local.set $a (f32x4.pmax (local.get $a) (f32x4.abs (v128.load (local.get $at)))))
      (local.set $b (f32x4.pmax (local.get $b) (f32x4.abs (v128.load offset=16 (local.get $at)))))
      (local.set $c (f32x4.pmax (local.get $c) (f32x4.abs (v128.load offset=32 (local.get $at)))))
      (local.set $d (f32x4.pmax (local.get $d) (f32x4.abs (v128.load offset=48 (local.get $at)))))
      (br_if $part (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 64))) (local.get $end))))
    (local.set $max
      (f32x4.pmax (f32x4.pmax (local.get $a) (local.get $b)) (f32x4.pmax (local.get $c) (local.get $d))))
    (local.set $largest
      (f32.max
        (f32.max (f32x4.extract_lane 0 (local.get $max)) (f32x4.extract_lane 1 (local.get $max)))
        (f32.max (f32x4.extract_lane 2 (local.get $max)) (f32x4.extract_lane 3 (local.get $max)))))
    (local.set $scale (f32.div (local.get $largest) (f32.const 127)))
    (local.set $scales (f32x4.splat (local.get $scale)))
    (local.set $inverses
      (f32x4.splat
        (select
          (f32.div (f32.const 1) (local.get $scale))
          (f32.const 0)
          (f32.gt (local.get $scale) (f32.const 1e-30)))))

    ;; A number this large has no room for fractions: added, it rounds, halves to what is even, and what was added
    ;; stands in the lowest bits. (To round and to convert by instructions of their own takes twice as long.)
    (local.set $round (f32x4.splat (f32.const 12582912)))
    (local.set $at (local.get $source))
    (loop $part
      (local.set $a (f32x4.add (f32x4.mul (v128.load (local.get $at)) (local.get $inverses)) (local.get $round)))
      (local.set $b (f32x4.add (f32x4.mul (v128.load offset=16 (local.get $at)) (local.get $inverses)) (local.get $round)))
      (local.set $c (f32x4.add (f32x4.mul (v128.load offset=32 (local.get $at)) (local.get $inverses)) (local.get $round)))
      (local.set $d (f32x4.add (f32x4.mul (v128.load offset=48 (local.get $at)) (local.get $inverses)) (local.get $round)))
      (v128.store (local.get $target)
        (i8x16.narrow_i16x8_s
          (i16x8.narrow_i32x4_s (i32x4.sub (local.get $a) (local.get $round)) (i32x4.sub (local.get $b) (local.get $round)))
          (i16x8.narrow_i32x4_s (i32x4.sub (local.get $c) (local.get $round)) (i32x4.sub (local.get $d) (local.get $round)))))
      (local.set $a (f32x4.sub (v128.load (local.get $at)) (f32x4.mul (f32x4.sub (local.get $a) (local.get $round)) (local.get $scales))))
      (local.set $b (f32x4.sub (v128.load offset=16 (local.get $at)) (f32x4.mul (f32x4.sub (local.get $b) (local.get $round)) (local.get $scales))))
      (local.set $c (f32x4.sub (v128.load offset=32 (local.get $at)) (f32x4.mul (f32x4.sub (local.get $c) (local.get $round)) (local.get $scales))))
      (local.set $d (f32x4.sub (v128.load offset=48 (local.get $at)) (f32x4.mul (f32x4.sub (local.get $d) (local.get $round)) (local.get $scales))))
      (local.set $sums (f32x4.add (local.get $sums) (f32x4.mul (local.get $a) (local.get $a))))
      (local.set $sums (f32x4.add (local.get $sums) (f32x4.mul (local.get $b) (local.get $b))))
      (local.set $sums (f32x4.add (local.get $sums) (f32x4.mul (local.get $c) (local.get $c))))
      (local.set $sums (f32x4.add (local.get $sums) (f32x4.mul (local.get $d) (local.get $d))))
      (local.set $target (i32.add (local.get $target) (i32.const 16)))
      (br_if $part (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 64))) (local.get $end))))
    (f32.store (local.get $out) (local.get $scale))
    (f32.store offset=4 (local.get $out)
      (f32.add
        (f32.add (f32x4.extract_lane 0 (local.get $sums)) (f32x4.extract_lane 1 (local.get $sums)))
        (f32.add (f32x4.extract_lane 2 (local.get $sums)) (f32x4.extract_lane 3 (local.get $sums))))))

  ;; The signs of a row of int8, one bit each, set for what is negative: `stride` / 8 bytes at `target`.
  (func (export "signs")
    (param $source i32) (param $stride i32) (param $target i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $source) (local.get $stride)))
    (loop $part
      (i32.store16 (local.get $target) (i8x16.bitmask (v128.load (local.get $source))))
      (local.set $target (i32.add (local.get $target) (i32.const 2)))
      (br_if $part
        (i32.lt_u (local.tee $source (i32.add (local.get $source) (i32.const 16))) (local.get $end)))))

  ;; Products of rows of `dimensions` f32, without padding, with a query of as many f64: one f64 per row, from `out` on.
  ;; Four sums are kept, as dot.ts keeps them, and what is left over goes to the first.
  (func (export "products")
    (param $rows i32) (param $count i32) (param $dimensions i32) (param $query i32) (param $out i32)
    (local $fours i32) (local $end i32) (local $row_end i32) (local $q i32) (local $v v128)
    (local $ab v128) (local $cd v128) (local $first f64)
    (local.set $fours (i32.mul (i32.and (local.get $dimensions) (i32.const -4)) (i32.const 4)))
    (block $done
      (loop $one
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $q (local.get $query))
        (local.set $row_end (i32.add (local.get $rows) (i32.mul (local.get $dimensions) (i32.const 4))))
        (local.set $end (i32.add (local.get $rows) (local.get $fours)))
        (local.set $ab (v128.const i32x4 0 0 0 0))
        (local.set $cd (v128.const i32x4 0 0 0 0))
        (block $fours_done
          (loop $four
            (br_if $fours_done (i32.ge_u (local.get $rows) (local.get $end)))
            (local.set $v (v128.load (local.get $rows)))
            (local.set $ab (f64x2.add (local.get $ab)
              (f64x2.mul (f64x2.promote_low_f32x4 (local.get $v)) (v128.load (local.get $q)))))
            (local.set $cd (f64x2.add (local.get $cd)
              (f64x2.mul
                (f64x2.promote_low_f32x4
                  (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $v) (local.get $v)))
                (v128.load offset=16 (local.get $q)))))
            (local.set $rows (i32.add (local.get $rows) (i32.const 16)))
            (local.set $q (i32.add (local.get $q) (i32.const 32)))
            (br $four)))
        (local.set $first (f64x2.extract_lane 0 (local.get $ab)))
        (block $rest_done
          (loop $rest
            (br_if $rest_done (i32.ge_u (local.get $rows) (local.get $row_end)))
            (local.set $first (f64.add (local.get $first)
              (f64.mul (f64.promote_f32 (f32.load (local.get $rows))) (f64.load (local.get $q)))))
            (local.set $rows (i32.add (local.get $rows) (i32.const 4)))
            (local.set $q (i32.add (local.get $q) (i32.const 8)))
            (br $rest)))
        (f64.store (local.get $out)
          (f64.add
            (f64.add
              (f64.add (local.get $first) (f64x2.extract_lane 1 (local.get $ab)))
              (f64x2.extract_lane 0 (local.get $cd)))
            (f64x2.extract_lane 1 (local.get $cd))))
        (local.set $out (i32.add (local.get $out) (i32.const 8)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $one)))))
